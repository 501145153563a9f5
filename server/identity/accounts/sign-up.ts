import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import { type Caller, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, forbidden } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { toSlug } from '../../platform/kernel/slug.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { anyOrgExists, insertMembership, insertOrg, insertUser, orgSlugsLike } from '../auth/auth.queries.ts'
import { addressKey, LIMITS, takeAttempt } from '../auth/attempts.ts'
import { foldEmail } from '../auth/email.ts'
import { sealedNewDataKey } from '../auth/org-sealer.ts'
import { checkPasswordLength, judgePassword } from '../auth/password-rules.ts'

/** An arbitrary number. Sign-ups run one after the other, so that only one is the first and slugs do not collide. */
export const SIGN_UP_LOCK = 7_201_994_313

const MAX_SLUG_CHARACTERS = 40

type SignUpInput = {
  readonly email: string
  readonly password: string
  readonly name: string
  readonly org: string
}

/**
 * Creates an organisation and its owner. The first sign-up of an installation always works; FAULTLINE_SIGNUP decides
 * about later ones.
 * @returns the organisation's slug, and a warning when a weak password was accepted
 * @throws AppError forbidden, rate_limited, invalid (password), conflict (known e-mail)
 */
export async function signUp(
  app: App,
  input: SignUpInput,
  caller: Caller,
): Promise<{ org: string; warning: string | null }> {
  const email = foldEmail(input.email)
  await checkOpen(app, app.db)
  const attempt = await takeAttempt(app, LIMITS.signUp, addressKey(caller.origin.ip), caller.origin.ip)
  if (!attempt.allowed) throw attempt.refusal
  checkPasswordLength(input.password, 'password')
  const warning = await judgePassword(app.config.passwordCheck, input.password, { ...input, email })
  // Hash before looking up the address: the response time must not reveal whether the account exists.
  const passwordHash = await app.passwords.hash(input.password)
  const now = app.clock.now()
  const orgId = newId()
  const org = await app.tx(async (tx) => {
    await lockUntilEnd(tx, SIGN_UP_LOCK)
    await checkOpen(app, tx)
    // Who sets up the installation owns it: their address needs no proof, and a reset keeps their second factor.
    const isFirst = !(await anyOrgExists(tx))
    const slug = await freeSlug(tx, input.org)
    await insertOrg(tx, {
      id: orgId,
      slug,
      name: input.org,
      data_key_sealed: sealedNewDataKey(app, orgId),
      created_at: now,
    })
    const userId = newId()
    const isNew = await insertUser(tx, {
      id: userId,
      email,
      name: input.name,
      password_hash: passwordHash,
      created_at: now,
      email_proved_at: isFirst ? now : null,
    })
    if (!isNew) throw conflict('An account with this e-mail address already exists. Log in instead.')
    await insertMembership(tx, { user_id: userId, org_id: orgId, role: 'owner', created_at: now })
    const actor = { kind: 'user', userId, name: input.name, orgId, role: 'owner', sessionId: null, ...caller } as const
    const data = { org_id: orgId, via: 'password' }
    await recordFacts(tx, factContext(app, actor, now), [{ kind: 'signup.password.ok', orgId, userId, data }])
    return slug
  })
  app.log.info({ org_id: orgId, request_id: caller.requestId }, 'signup.ok')
  return { org, warning }
}

/** @throws AppError forbidden */
async function checkOpen(app: App, db: Connection): Promise<void> {
  if (app.config.signup === 'open' || !(await anyOrgExists(db))) return
  throw forbidden(
    app.config.signup === 'invite'
      ? 'Sign-up is by invitation only. Ask an administrator of your organisation to invite you.'
      : 'Sign-up is closed. Ask the operator of this installation for an account.',
  )
}

/** `acme`, or the first of `acme-2`, `acme-3` … that is free. */
export async function freeSlug(tx: Tx, name: string): Promise<string> {
  const slug = toSlug(name, MAX_SLUG_CHARACTERS)
  const base = slug === '' ? 'org' : slug
  const taken = await orgSlugsLike(tx, base)
  if (!taken.has(base)) return base
  for (let n = 2; ; n++) if (!taken.has(`${base}-${n}`)) return `${base}-${n}`
}
