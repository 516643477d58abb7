/** The tenants of a mismatch, either of which may be absent. */
interface Mismatch {
  readonly subject: string;
  readonly asserted: string | undefined;
  readonly expected: string | undefined;
}

/** The event of spec 3 §5.4 (4). A tenant that a stranger wrote is cut. */
export const mismatch = ({ subject, asserted, expected }: Mismatch) =>
  ({
    type: 'TenantMismatch',
    tenant: expected,
    subject,
    data: {
      subject,
      asserted_tenant: asserted?.slice(0, 128).toWellFormed() ?? null,
      expected_tenant: expected ?? null,
    },
  }) as const;
