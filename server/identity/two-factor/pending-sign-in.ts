import { z } from 'zod'
import {
  completeSignIn,
  issueSignIn,
  type SignedIn,
  type SignInCaller,
  type SignInFact,
} from '../auth/complete-sign-in.ts'
import { lockUser, readMembership } from '../auth/auth.queries.ts'
import type { App } from '../../platform/context/app.ts'
import type { Cookies } from '../../platform/context/handlers.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { hasSsoIssuer } from './two-factor.queries.ts'
import { checkSecondFactor, returnCodeAttempt, consumeSecondFactor } from './second-factor.ts'

/**
 * A sign-in by redirect (single sign-on, a social account) whose user has two-factor authentication on: the callback
 * cannot ask for a code, so a sealed cookie keeps what was proved until the log-in page sends one.
 */

const PENDING_COOKIE = 'svc_pending'
const PATH = '/api/auth'
const LIFE_SECONDS = 300
const PLACE = 'cookie:svc_pending'

const Provider = z.object({ provider: z.string(), issuer: z.string() })

const Pending = z.object({
  user_id: z.string(),
  org_id: z.string(),
  fact: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('signin.oidc.ok'), data: Provider }),
    z.object({ kind: z.literal('signin.oauth.ok'), data: Provider }),
  ]),
  started_at: z.number(),
})

/** The proof of a redirect: a user, for one organisation. */
export type ProvedSignIn = {
  readonly userId: string
  readonly orgId: string
  readonly fact: Extract<SignInFact, { kind: 'signin.oidc.ok' | 'signin.oauth.ok' }>
}

/** Where the callback sends the browser after {@link startPendingSignIn}. */
export const CODE_STEP = '/login?step=code'

/** Keeps a proved sign-in for five minutes until `POST /api/auth/2fa/continue` sends the code. */
export function startPendingSignIn(app: App, cookies: Cookies, { userId, orgId, fact }: ProvedSignIn): void {
  const pending: z.input<typeof Pending> = {
    user_id: userId,
    org_id: orgId,
    fact,
    started_at: app.clock.now().getTime(),
  }
  cookies.set(PENDING_COOKIE, app.sealer.seal(Buffer.from(JSON.stringify(pending)), PLACE), {
    path: PATH,
    sameSite: 'strict',
    maxAgeSeconds: LIFE_SECONDS,
  })
}

/**
 * Completes a sign-in that waits for a code. A wrong code leaves it waiting.
 * @throws AppError invalid (no sign-in waits, or it is over), unauthenticated (wrong or used code), rate_limited
 */
export async function continueSignIn(
  app: App,
  cookies: Cookies,
  token: string,
  caller: SignInCaller,
): Promise<SignedIn & { readonly warning: string | null }> {
  const pending = readPending(app, cookies.get(PENDING_COOKIE))
  if (pending === null) throw over()
  const factor = await checkSecondFactor(app, pending.user_id, token, caller)
  // Without a code, which was needed when it began, it does not go on.
  if (factor?.kind !== 'code') throw over()
  const { completed, warning } = await app.tx(async (tx) => {
    const user = await lockUser(tx, pending.user_id)
    const membership = await readMembership(tx, pending.user_id, pending.org_id)
    // The account may have been disabled, or its password changed, since the redirect.
    if (user === null || membership === null || (user.not_before?.getTime() ?? 0) > pending.started_at) throw over()
    const { kind, data } = pending.fact
    // Single sign-on may have been removed, or got another provider.
    if (kind === 'signin.oidc.ok' && !(await hasSsoIssuer(tx, pending.org_id, data.issuer))) throw over()
    const { facts, warning } = await consumeSecondFactor(tx, app, { user, orgId: membership.org_id }, factor, caller)
    return {
      completed: await completeSignIn(tx, app, membership, { fact: pending.fact, caller, more: facts, hasCode: true }),
      warning,
    }
  })
  await returnCodeAttempt(app, factor)
  cookies.clear(PENDING_COOKIE, PATH)
  app.log.info({ user_id: pending.user_id, ip: caller.origin.ip, request_id: caller.requestId }, pending.fact.kind)
  return { ...(await issueSignIn(app, completed)), warning }
}

function readPending(app: App, sealed: string | null): z.output<typeof Pending> | null {
  if (sealed === null) return null
  try {
    const pending = Pending.parse(JSON.parse(app.sealer.open(sealed, PLACE).toString()))
    return app.clock.now().getTime() - pending.started_at < LIFE_SECONDS * 1000 ? pending : null
  } catch {
    // Forged, or sealed with a key that is no longer configured.
    return null
  }
}

const over = () => invalid('This sign-in is over. Start again on the log-in page.')
