import { CliError } from '../exit-codes.ts';

/** The provider gives no answer now, and may later: what it refuses, and what is no provider, is another error. */
export class ProviderAway extends CliError {}
