import { anyOrgExists } from '../auth/auth.queries.ts'
import type { App } from '../../platform/context/app.ts'
import type { ClientAnswer } from '../../platform/kernel/contract.ts'
import { offersPasskeys } from '../passkeys/relying-party.ts'
import type { accountRoutes } from './accounts.api.ts'

/** The ways to sign up and to log in of this installation. */
export async function readMethods({ config, db }: App): Promise<ClientAnswer<(typeof accountRoutes)['readMethods']>> {
  const { signup, oauth } = config
  return {
    signup,
    first: !(await anyOrgExists(db)),
    oauth: (['github', 'google'] as const).filter((provider) => oauth[provider] !== null),
    passkeys: offersPasskeys(config),
    sso: true,
  }
}
