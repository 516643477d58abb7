/** Metadata behind the status of a call that the relay refuses: a PascalCase word. Proxies that refuse a call have none. */
export const reasonTrailer = 'windlass-reason';

/** Final: the daemon of the host stops for good. */
export const hostRevokedReason = 'HostRevoked';
