import { z } from 'zod'

/** How a user proved who they are when the session began. */
export const SignInMethod = z.enum(['password', 'passkey', 'oidc', 'oauth'])
export type SignInMethod = z.infer<typeof SignInMethod>
