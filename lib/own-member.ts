/**
 * A member of a map whose keys come from users. States, steps, volumes and Blackboard keys may be called `toString` or
 * `constructor`; plain indexing would find what every object inherits.
 */
export function ownMember<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}
