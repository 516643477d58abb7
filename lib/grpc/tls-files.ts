import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** Where a server's certificate, its key, and the authorities of its clients stand; all in PEM. */
export interface TlsPaths {
  readonly certificate: string;
  readonly key: string;
  readonly clientAuthorities: string;
}

/** Contents of the files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

interface TlsFilesDeps {
  readonly readFile: (path: string) => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the files are read; a Secret that changes takes a minute to reach its pods anyway. */
const rereadMs = 10_000;

/** Reads the files and makes sure that they can be used together. Throws AppError `invalid` that names the problem. */
export async function readTlsFiles(paths: TlsPaths, deps: Pick<TlsFilesDeps, 'readFile'>): Promise<TlsFiles> {
  const [cert, key, ca] = await Promise.all(
    [paths.certificate, paths.key, paths.clientAuthorities].map((path) => deps.readFile(path)),
  ).catch((error: unknown) => {
    throw unusable(messageOf(error), error);
  });
  const files = { cert: cert ?? '', key: key ?? '', ca: ca ?? '' };
  // Without any authority of ours TLS would fall back to those of the public web.
  requireCertificates(paths.clientAuthorities, files.ca);
  requireCertificates(paths.certificate, files.cert);
  try {
    createSecureContext(files);
    if (!new X509Certificate(files.cert).checkPrivateKey(createPrivateKey(files.key))) throw new Error('wrong key');
  } catch (error) {
    throw unusable(`${paths.key} is not the key of ${paths.certificate}`, error);
  }
  return files;
}

/**
 * Tells `onChange` of every usable change of the files until `signal` aborts. What cannot be used, such as half of an
 * exchange, is logged once and changes nothing. Never rejects.
 */
export async function followTlsFiles(
  paths: TlsPaths,
  { current, onChange }: { readonly current: TlsFiles; readonly onChange: (files: TlsFiles) => void },
  { signal, ...deps }: TlsFilesDeps & { readonly signal: AbortSignal },
): Promise<void> {
  const { clock, logger } = deps;
  let known = JSON.stringify(current);
  let problem = '';
  while (!signal.aborted) {
    await clock.sleep(rereadMs, signal);
    try {
      const files = await readTlsFiles(paths, deps);
      problem = '';
      if (JSON.stringify(files) === known) continue;
      known = JSON.stringify(files);
      onChange(files);
      logger.info({ notAfter: new X509Certificate(files.cert).validTo }, 'certificates reloaded');
    } catch (error) {
      if (messageOf(error) !== problem) logger.warn({ problem: messageOf(error) }, 'certificates not usable');
      problem = messageOf(error);
    }
  }
}

const block = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

function requireCertificates(path: string, pem: string): void {
  const blocks = pem.match(block) ?? [];
  if (blocks.length === 0) throw unusable(`${path} holds no certificate`);
  for (const text of blocks) {
    try {
      new X509Certificate(text);
    } catch (error) {
      throw unusable(`${path} holds a certificate that cannot be read`, error);
    }
  }
}

const unusable = (why: string, cause?: unknown): AppError =>
  new AppError('invalid', `the certificates of gRPC cannot be used: ${why}`, { reason: 'TlsInvalid', cause });
