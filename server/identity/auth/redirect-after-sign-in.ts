import type { SignInError } from '#shared/sign-in-errors.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'

/** Where a browser goes when a sign-in through another site has failed. */
export const loginError = (error: SignInError): string => `/login?error=${error}`

/**
 * Sends the browser to where `work` says, and to the log-in page if it fails: browsers would show the JSON of an error.
 * @param fallback what the log-in page says of an error that nothing foresaw; the log has it
 */
export async function redirectAfter(
  app: App,
  caller: Caller,
  call: { redirect(location: string): void },
  fallback: SignInError,
  work: () => Promise<string>,
): Promise<void> {
  let location: string
  try {
    location = await work()
  } catch (error) {
    app.log.error({ err: error, request_id: caller.requestId }, 'a sign-in through another site failed')
    location = loginError(fallback)
  }
  call.redirect(location)
}
