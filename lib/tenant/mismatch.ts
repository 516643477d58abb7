/** The tenants of a mismatch, either of which may be absent. */
interface Mismatch {
  readonly subject: string;
  readonly asserted: string | undefined;
  readonly expected: string | undefined;
  /** Calls before this one that were refused with 429 for their number, and have no event. Default: none. */
  readonly leftOut?: number;
}

/** The event of spec 3 §5.4 (4). A tenant that a stranger wrote is cut. */
export const mismatch = ({ subject, asserted, expected, leftOut = 0 }: Mismatch) =>
  ({
    type: 'TenantMismatch',
    tenant: expected,
    subject,
    data: {
      subject,
      asserted_tenant: asserted?.slice(0, 128).toWellFormed() ?? null,
      expected_tenant: expected ?? null,
      ...(leftOut === 0 ? {} : { left_out: leftOut }),
    },
  }) as const;
