import { apiKeyRoutes } from './api-keys/api-keys.api.ts'
import { authRoutes } from './auth/auth.api.ts'
import { twoFactorRoutes } from './two-factor/two-factor.api.ts'
import { passkeyRoutes } from './passkeys/passkeys.api.ts'
import { sessionRoutes } from './auth/sessions.api.ts'
import { accountRoutes } from './accounts/accounts.api.ts'
import { socialRoutes } from './external-identity/social.api.ts'
import { ssoRoutes } from './external-identity/sso.api.ts'
import { inviteRoutes } from './team/invites.api.ts'
import { organisationRoutes } from './team/organisation.api.ts'
import { memberRoutes } from './team/members.api.ts'

/** The endpoints of this district. */
export const identityContract = {
  ...authRoutes,
  ...twoFactorRoutes,
  ...passkeyRoutes,
  ...sessionRoutes,
  ...accountRoutes,
  ...ssoRoutes,
  ...socialRoutes,
  ...organisationRoutes,
  ...memberRoutes,
  ...inviteRoutes,
  ...apiKeyRoutes,
}
