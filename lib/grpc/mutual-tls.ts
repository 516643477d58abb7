import { ServerCredentials } from '@grpc/grpc-js';
import type { TlsFiles } from './tls-files.ts';

/** A client that does not finish its handshake in this time is cut off. */
const handshakeMs = 10_000;

/**
 * Credentials of a server that refuses clients without a certificate of the given authorities, and whose own
 * certificate and authorities can be exchanged. A change counts for new connections.
 */
export class MutualTls extends ServerCredentials {
  constructor(files: TlsFiles) {
    super(
      { requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2', handshakeTimeout: handshakeMs },
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
