/** Actions of refused requests. */
export const DENIALS = ['signin.failed', 'signin.locked', 'access.denied', 'ratelimit.exceeded'] as const
