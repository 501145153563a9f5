import { z } from 'zod'

/** An email address as a user types it. */
export const Email = z
  .string({ error: 'email must be a string.' })
  .trim()
  .min(3, { error: 'email must not be empty.' })
  .max(254, { error: 'email must be at most 254 characters.' })
  .regex(/^[^\s@<>",;]+@[^\s@<>",;]+$/u, { error: 'email must look like name@example.com.' })

/** A password in a body. The operation checks the length in code points. The limit here bounds the cost of hashing. */
export const password = (name: string) =>
  z
    .string({ error: `${name} must be a string.` })
    .min(1, { error: `${name} must not be empty.` })
    .max(1024, { error: `${name} must be at most 256 characters.` })

/** The body of a change that needs a recent log-in or, without one, the password. */
export const OptionalPassword = z.strictObject({ password: password('password').optional() })
