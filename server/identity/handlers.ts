import type { Handlers } from '../platform/context/handlers.ts'
import type { identityContract } from './contract.api.ts'
import { apiKeyHandlers } from './api-keys/api-keys.handlers.ts'
import { authHandlers } from './auth/auth.handlers.ts'
import { twoFactorHandlers } from './two-factor/two-factor.handlers.ts'
import { passkeyHandlers } from './passkeys/passkeys.handlers.ts'
import { sessionHandlers } from './auth/sessions.handlers.ts'
import { accountHandlers } from './accounts/accounts.handlers.ts'
import { socialHandlers } from './external-identity/social.handlers.ts'
import { ssoHandlers } from './external-identity/sso.handlers.ts'
import { inviteHandlers } from './team/invites.handlers.ts'
import { organisationHandlers } from './team/organisation.handlers.ts'
import { memberHandlers } from './team/members.handlers.ts'

/** The handler of every endpoint of this district. */
export const identityHandlers: Handlers<typeof identityContract> = {
  ...authHandlers,
  ...twoFactorHandlers,
  ...passkeyHandlers,
  ...sessionHandlers,
  ...accountHandlers,
  ...ssoHandlers,
  ...socialHandlers,
  ...organisationHandlers,
  ...memberHandlers,
  ...inviteHandlers,
  ...apiKeyHandlers,
}
