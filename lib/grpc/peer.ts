/** The caller, by the certificate that the server has verified. */
export interface Peer {
  /** Common name of the subject, for the log; empty where there is none. */
  readonly commonName: string;
  /** Alternative names of the kind URI. */
  readonly uris: readonly string[];
}

/** The parts of a verified certificate that tell who it is for. */
interface PeerCertificate {
  readonly subject?: { readonly CN?: string | readonly string[] } | undefined;
  /** In the form of Node: `DNS:a.example, URI:"…"`, where a name with special characters is a JSON string. */
  readonly subjectaltname?: string | undefined;
}

/** Undefined for a connection without a verified certificate. */
export function readPeer(certificate: PeerCertificate | undefined): Peer | undefined {
  if (certificate === undefined) return undefined;
  const { subject, subjectaltname = '' } = certificate;
  const names = subject?.CN ?? [];
  return { commonName: [names].flat()[0] ?? '', uris: readUris(subjectaltname) };
}

const name = /([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/y;

/**
 * A name may hold a comma and what looks like another name after it, so the list is read from its beginning, name by
 * name. A list that cannot be read to its end has no names.
 */
function readUris(list: string): string[] {
  const uris: string[] = [];
  name.lastIndex = 0;
  while (name.lastIndex < list.length) {
    const match = name.exec(list);
    if (match === null) return [];
    const [, kind, value = ''] = match;
    if (kind === 'URI' && !value.startsWith('"')) uris.push(value);
  }
  return uris;
}
