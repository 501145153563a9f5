import type { SignInCaller } from '#server/identity/auth/complete-sign-in.ts'
import { logIn, type LoggedIn, type LogInInput } from '#server/identity/accounts/log-in.ts'
import type { App } from '#server/platform/context/app.ts'

/** Logs in a user whose log-in needs no code. */
export async function logInWithPassword(app: App, input: LogInInput, caller: SignInCaller): Promise<LoggedIn> {
  const loggedIn = await logIn(app, input, caller)
  if (loggedIn === null) throw new Error('the log-in asks for a code')
  return loggedIn
}
