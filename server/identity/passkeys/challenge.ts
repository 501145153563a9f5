import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import type { Cookies } from '../../platform/context/handlers.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { deleteExpiredChallenges, consumeChallenge } from './passkeys.queries.ts'

/**
 * A challenge is in a sealed cookie of the browser that asked for it, and in the database only once it was answered: unused
 * log-in pages leave no rows.
 */

const COOKIE = 'svc_passkey'
const PATH = '/api/auth/passkeys'
const PLACE = 'cookie:svc_passkey'
const BYTES = 32
export const CHALLENGE_LIFE_MS = 300_000

/** Whom a challenge is for: a session that adds a passkey, or a browser that logs in. */
export type Purpose = { readonly kind: 'register'; readonly sessionId: string } | { readonly kind: 'log_in' }

const Given = z.object({
  challenge: z.string(),
  kind: z.enum(['register', 'log_in']),
  session_id: z.string().nullable(),
  expires_at: z.number(),
})

/** @returns the challenge, base64url */
export function giveChallenge(app: App, cookies: Cookies, purpose: Purpose): string {
  const challenge = randomBytes(BYTES).toString('base64url')
  const given: z.input<typeof Given> = {
    challenge,
    kind: purpose.kind,
    session_id: sessionOf(purpose),
    expires_at: app.clock.now().getTime() + CHALLENGE_LIFE_MS,
  }
  cookies.set(COOKIE, app.sealer.seal(Buffer.from(JSON.stringify(given)), PLACE), {
    path: PATH,
    sameSite: 'strict',
    maxAgeSeconds: CHALLENGE_LIFE_MS / 1000,
  })
  return challenge
}

/**
 * Uses up the challenge of the browser, whether its answer is right or not.
 * @throws AppError invalid when there is none, or it is for something else, expired or used
 */
export async function takeChallenge(app: App, cookies: Cookies, purpose: Purpose): Promise<string> {
  const given = read(app, cookies.get(COOKIE))
  const now = app.clock.now()
  if (given === null || given.kind !== purpose.kind || given.session_id !== sessionOf(purpose)) throw over()
  if (given.expires_at <= now.getTime()) throw over()
  cookies.clear(COOKIE, PATH)
  const hash = createHash('sha256').update(given.challenge).digest()
  if (!(await consumeChallenge(app.db, hash, new Date(given.expires_at)))) throw over()
  await deleteExpiredChallenges(app.db, now)
  return given.challenge
}

const sessionOf = (purpose: Purpose): string | null => (purpose.kind === 'register' ? purpose.sessionId : null)

function read(app: App, sealed: string | null): z.output<typeof Given> | null {
  if (sealed === null) return null
  try {
    return Given.parse(JSON.parse(app.sealer.open(sealed, PLACE).toString()))
  } catch {
    // Forged, or sealed with a key that is no longer configured.
    return null
  }
}

const over = () => invalid('This request is over or was answered already. Start again.')
