import type { SignInError } from '#shared/sign-in-errors.ts'
import { actorOfToken } from '../auth/authenticate.ts'
import { requireRecentSignIn } from '../auth/require-recent-sign-in.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { describeFailure } from './describe-failure.ts'
import { insertTransaction } from './external-identities.queries.ts'
import { ProviderName } from './social.api.ts'
import { socialProvider } from './social-provider.ts'
import { newRedirectSecrets, redirectHashes, visitTimes } from './visits.ts'

type StartInput = {
  /** As the browser sent it. */
  readonly provider: string
  readonly isLinking: boolean
  /** `svc_oauth` of the browser. */
  readonly cookie: string | null
  readonly accessToken: string | null
}

export type Started =
  | { readonly location: string; readonly cookie: string }
  | { readonly error: SignInError; readonly isSignedIn: boolean }

/** Begins a sign-in at GitHub or Google, or the linking of an account there to the user of the session. */
export async function startSocial(app: App, input: StartInput, caller: Caller): Promise<Started> {
  const name = ProviderName.safeParse(input.provider)
  const provider = name.success ? socialProvider(app, name.data) : null
  if (!name.success || provider === null) return { error: 'oauth_unavailable', isSignedIn: input.isLinking }
  const session = input.isLinking ? await linkingSession(app, input.accessToken, caller) : null
  if (session !== null && 'error' in session) return session
  const secrets = newRedirectSecrets(input.cookie)
  let location: string
  try {
    location = await provider.authorizationUrl(secrets)
  } catch (error) {
    app.log.warn({ reason: describeFailure(error), provider: name.data }, 'a provider of social sign-in cannot be used')
    return { error: 'oauth_unavailable', isSignedIn: input.isLinking }
  }
  const own = { provider: name.data, linking_session_id: session?.id ?? null }
  await app.tx((tx) => insertTransaction(tx, { ...redirectHashes(secrets), ...visitTimes(app), ...own }))
  return { location, cookie: secrets.browser }
}

/** The session for which an account may be linked, or why not. */
async function linkingSession(
  app: App,
  accessToken: string | null,
  caller: Caller,
): Promise<{ readonly id: string } | Extract<Started, { error: SignInError }>> {
  try {
    if (accessToken === null) return { error: 'login_required', isSignedIn: false }
    const actor = await actorOfToken(app, accessToken, caller)
    await requireRecentSignIn(app, actor, null)
    return { id: actor.sessionId }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code === 'forbidden'
      ? { error: 'login_too_old', isSignedIn: true }
      : { error: 'login_required', isSignedIn: false }
  }
}
