/** Finds the namespace that a tenant's objects stand in. */
export interface TenantDirectory {
  /** Undefined for a tenant that is not set up; a read then finds nothing, a write answers 404. */
  namespaceOf(slug: string): string | undefined;
  /** The slug of the tenant that owns a namespace. */
  tenantOf(namespace: string): string | undefined;
}
