import { Type } from 'typebox';

/** An entry of a list of paths, of an agent or of a SecurityContext. */
export const pathPattern = Type.String({
  pattern: '^(/|volume:[a-z0-9.*-]+/)',
  maxLength: 1_024,
  description:
    'Absolute path or glob; `volume:NAME/…` is one of a volume that is not mounted, where * in NAME is any text.',
});
