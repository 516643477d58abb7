import { ServerCredentials } from '@grpc/grpc-js';
import type { ServerTlsFiles, TlsFiles } from './tls-files.ts';

/** A client that does not finish its handshake in this time is cut off. */
const handshakeMs = 10_000;

/**
 * Credentials of a server whose own certificate and whose authorities of clients can be exchanged. A change counts for
 * new connections. `required`: a connection without a certificate of these authorities is refused. `optional`: each
 * service decides (`StreamOptions.certificate`); a certificate that the authorities have not signed counts as none.
 */
export class MutualTls extends ServerCredentials {
  constructor(files: TlsFiles, clients: 'required' | 'optional' = 'required') {
    super(
      {
        requestCert: true,
        rejectUnauthorized: clients === 'required',
        minVersion: 'TLSv1.2',
        handshakeTimeout: handshakeMs,
      },
      { ...files },
    );
  }

  use(files: TlsFiles): void {
    this.updateSecureContextOptions({ ...files });
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

/** Credentials of a server that asks for no certificate, and whose own can be exchanged. A change counts for new connections. */
export class ServerTls extends ServerCredentials {
  constructor(files: ServerTlsFiles) {
    super({ minVersion: 'TLSv1.2', handshakeTimeout: handshakeMs }, { ...files });
  }

  use(files: ServerTlsFiles): void {
    this.updateSecureContextOptions({ ...files });
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}
