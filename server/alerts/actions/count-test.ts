import { LIMITS, takeAttempt } from '../../identity/auth/attempts.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'

/** Counts a test of an action: tests reach addresses that a member typed. @throws AppError rate_limited */
export async function countTest(app: App, { orgId, origin }: OrgActor): Promise<void> {
  const attempt = await takeAttempt(app, LIMITS.alertTest, orgId, origin.kind === 'request' ? origin.ip : '')
  if (!attempt.allowed) throw attempt.refusal
}
