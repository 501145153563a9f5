import type { SessionEndReason } from '../address/search.ts'

/** The reasons of the service, as the log-in page explains them. Others need no explanation: a log-out, for example. */
const REASONS: Readonly<Record<string, SessionEndReason>> = {
  theft: 'theft',
  password_changed: 'password',
  password_reset: 'password',
  two_factor_changed: 'two_factor',
  ended_by_user: 'elsewhere',
  too_many: 'many',
  role_changed: 'membership',
  member_removed: 'membership',
  member_disabled: 'membership',
  sso_removed: 'account',
  sso_enforced: 'account',
  user_deleted: 'account',
}

export const parseSessionEnd = (reason: string): SessionEndReason | undefined => REASONS[reason]
