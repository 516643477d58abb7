/** For servers whose certificate comes from an authority that only an organisation knows. */
export const trustHint = 'If its authority is your own: export NODE_EXTRA_CA_CERTS=FILE, or NODE_USE_SYSTEM_CA=1.';
