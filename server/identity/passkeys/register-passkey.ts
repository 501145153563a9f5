import type { z } from 'zod'
import { accountFacts } from '../auth/account-facts.ts'
import { lockUser, readUser } from '../auth/auth.queries.ts'
import { requireRecentSignIn, requireActiveSession } from '../auth/require-recent-sign-in.ts'
import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Cookies } from '../../platform/context/handlers.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { CHALLENGE_LIFE_MS, giveChallenge, takeChallenge } from './challenge.ts'
import { ALGORITHMS, passkeyLibrary, userHandle } from './passkey-library.ts'
import { registeredMail } from './passkey-mails.ts'
import type { RegistrationOptions, RegistrationResponse } from './passkeys.api.ts'
import { insertPasskey, selectPasskeys, type PasskeyRow } from './passkeys.queries.ts'
import { relyingParty } from './relying-party.ts'

const MAX_PASSKEYS = 20
const RP_NAME = 'Faultline'

/**
 * Options with which the browser creates a passkey for the caller.
 * @throws AppError conflict (too many), and those of {@link requireRecentSignIn}
 */
export async function startPasskeyRegistration(
  app: App,
  actor: SessionActor,
  { password, cookies }: { readonly password: string | undefined; readonly cookies: Cookies },
): Promise<z.input<typeof RegistrationOptions>> {
  await requireRecentSignIn(app, actor, password)
  const [user, passkeys] = await Promise.all([readUser(app.db, actor.userId), selectPasskeys(app.db, actor.userId)])
  if (user === null) throw sessionEnded()
  if (passkeys.length >= MAX_PASSKEYS) throw tooMany()
  return {
    rp: { id: relyingParty(app.config).id, name: RP_NAME },
    user: { id: userHandle(user.id), name: user.email, displayName: user.name },
    challenge: giveChallenge(app, cookies, { kind: 'register', sessionId: actor.sessionId }),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: CHALLENGE_LIFE_MS,
    excludeCredentials: passkeys.map(({ credential_id, transports }) => ({
      type: 'public-key',
      id: credential_id.toString('base64url'),
      transports,
    })),
    authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
    attestation: 'none',
  }
}

/**
 * Adds the passkey that the browser created for the challenge of this session.
 * @throws AppError invalid (challenge or answer), conflict (known credential, too many), unauthenticated
 */
export async function registerPasskey(
  app: App,
  actor: SessionActor,
  input: {
    readonly name: string | undefined
    readonly response: z.output<typeof RegistrationResponse>
    readonly cookies: Cookies
  },
): Promise<PasskeyRow> {
  const { response, cookies } = input
  const challenge = await takeChallenge(app, cookies, { kind: 'register', sessionId: actor.sessionId })
  const made = await verify(app, response, challenge)
  const passkey = await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    if (user === null) throw sessionEnded()
    await requireActiveSession(tx, actor)
    const others = (await selectPasskeys(tx, user.id)).length
    if (others >= MAX_PASSKEYS) throw tooMany()
    const passkey: PasskeyRow = {
      id: newId(),
      user_id: user.id,
      ...made,
      name: input.name ?? `Passkey ${others + 1}`,
      transports: [...new Set(response.response.transports)],
      created_at: app.clock.now(),
      last_used_at: null,
    }
    if (!(await insertPasskey(tx, passkey))) throw conflict('This passkey is registered already.')
    const fact = { kind: 'passkey.registered', data: { passkey_id: passkey.id } } as const
    await recordFacts(tx, factContext(app, actor), await accountFacts(tx, user.id, fact))
    await enqueueMails(tx, app, actor.orgId, [registeredMail(app, user, passkey.name)])
    return passkey
  })
  app.log.info({ ...actorForLog(actor), ip: actor.origin.ip, passkey_id: passkey.id }, 'passkey.registered')
  return passkey
}

type Made = Pick<PasskeyRow, 'credential_id' | 'public_key' | 'counter' | 'backed_up'>

async function verify(app: App, response: z.output<typeof RegistrationResponse>, challenge: string): Promise<Made> {
  const { verifyRegistrationResponse } = await passkeyLibrary()
  const { id, origins } = relyingParty(app.config)
  const verified = await verifyRegistrationResponse({
    response: { ...response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch((error: unknown) => {
    app.log.info({ err: error }, 'a passkey could not be registered')
    return null
  })
  // The library does not compare the id with the one that the authenticator wrote.
  if (!verified?.verified || verified.registrationInfo.credential.id !== response.id)
    throw invalid('The passkey could not be verified. Start again, at the address of PUBLIC_URL.')
  const { credential, credentialBackedUp } = verified.registrationInfo
  return {
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    counter: credential.counter,
    backed_up: credentialBackedUp,
  }
}

const tooMany = () => conflict(`You have ${MAX_PASSKEYS} passkeys, which is the limit. Remove one first.`)
const sessionEnded = () => unauthenticated('This session has ended. Log in again.')
