import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/actor.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { MembershipRow } from '../auth/auth.queries.ts'
import {
  completeSignIn,
  issueSignIn,
  type CompletedSignIn,
  type SignedIn,
  type SignInCaller,
} from '../auth/complete-sign-in.ts'
import type { ProvedSignIn } from '../two-factor/pending-sign-in.ts'
import { needsSecondFactor } from '../two-factor/second-factor.ts'

/** A code of the authenticator app completes the sign-in. */
type NeedsCode = { readonly kind: 'code'; readonly proved: ProvedSignIn }

/** A sign-in by an external identity whose transaction has not committed yet. */
export type Completed = { readonly kind: 'completed'; readonly completed: CompletedSignIn } | NeedsCode

/** A sign-in by an external identity. */
export type Proved = { readonly kind: 'signed_in'; readonly signedIn: SignedIn } | NeedsCode

/**
 * Signs in the user of an external identity, or asks for the second factor that the provider did not check. The
 * transaction holds the lock of the user's row. After the commit call {@link issueIfCompleted}.
 * @param signIn.more facts that come before it; they stay recorded when the code is missing
 */
export async function completeOrAskCode(
  tx: Tx,
  app: App,
  membership: MembershipRow,
  signIn: {
    readonly fact: ProvedSignIn['fact']
    readonly caller: SignInCaller
    readonly more?: readonly Fact[]
    readonly hasSecondFactor?: boolean
  },
): Promise<Completed> {
  const { fact, caller, more = [], hasSecondFactor = false } = signIn
  const { user_id: userId, org_id: orgId, role, user_name: name } = membership
  if (hasSecondFactor || !(await needsSecondFactor(tx, userId)))
    return { kind: 'completed', completed: await completeSignIn(tx, app, membership, { fact, caller, more }) }
  const actor = { kind: 'user', userId, name, orgId, role, sessionId: null, ...caller } as const
  await recordFacts(tx, factContext(app, actor), more)
  return { kind: 'code', proved: { userId, orgId, fact } }
}

/** Issues the tokens of a completed sign-in. Call it after the commit. */
export const issueIfCompleted = async (app: App, decided: Completed): Promise<Proved> =>
  decided.kind === 'code' ? decided : { kind: 'signed_in', signedIn: await issueSignIn(app, decided.completed) }
