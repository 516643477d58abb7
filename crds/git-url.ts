/**
 * A repository that a binding may name: no other scheme, no option in the place of a host or a user, no password, no query
 * (runner/gitop/remote.go has the same form).
 */
export const gitUrlPattern =
  "^(https?://|ssh://([A-Za-z0-9_][A-Za-z0-9._-]{0,63}@)?)([A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]{2,45}\\])(:[0-9]{1,5})?/[A-Za-z0-9._~!$&'()*+,;=:@%/-]+$";

/** A branch, a tag or a commit; a rule refuses what git refuses beside. */
export const gitRefPattern = '^[A-Za-z0-9_][A-Za-z0-9._/+@-]*$';
