/** An error answer in the provider's form. */
export class ProviderError extends Error {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(fields['message'] ?? fields['type'] ?? 'refused');
    this.status = status;
    this.fields = fields;
    this.headers = headers;
  }

  get body(): unknown {
    return { error: { type: 'invalid_request_error', ...this.fields } };
  }
}

export const missing = (what: string, id: string, param = 'id'): ProviderError =>
  new ProviderError(param === 'id' ? 404 : 400, {
    code: 'resource_missing',
    param,
    message: `No such ${what}: '${id}'`,
  });
