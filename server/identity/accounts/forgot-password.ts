import { z } from 'zod'
import { LIMITS, addressKey, accountKey, takeAttempt } from '../auth/attempts.ts'
import { foldEmail } from '../auth/email.ts'
import type { Caller } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { addJob, defineTask } from '../../platform/jobs/task.ts'
import { sendResetLink } from './send-reset-link.ts'

const JOB = 'reset-link'

/**
 * Asks for a link that resets the password. The request does the same for every address, and a job does the rest: neither
 * the answer nor its time reveals whether there is an account. Beyond the limits it does nothing.
 */
export async function forgotPassword(app: App, input: { readonly email: string }, caller: Caller): Promise<void> {
  const email = foldEmail(input.email)
  const { ip, userAgent } = caller.origin
  const byAddress = await takeAttempt(app, LIMITS.forgotAddress, addressKey(ip), ip)
  // Otherwise one client could use up the links of every account.
  if (!byAddress.allowed) return
  const byEmail = await takeAttempt(app, LIMITS.forgotEmail, accountKey(email), ip)
  if (!byEmail.allowed) return
  await addJob(app.db, JOB, { email, ip, userAgent, requestId: caller.requestId }, { maxAttempts: 10 })
}

export const resetLinkTask = defineTask({
  name: JOB,
  payload: z.object({ email: z.string(), ip: z.string(), userAgent: z.string().nullable(), requestId: z.string() }),
  run: (app, { email, ip, userAgent, requestId }) =>
    sendResetLink(app, email, { origin: { kind: 'request', ip, userAgent }, requestId }),
})
