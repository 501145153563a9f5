import { insertMembership, insertOrg, insertUser, lockUser, orgBySlug, userByEmail } from '../auth/auth.queries.ts'
import { foldEmail } from '../auth/email.ts'
import { sealedNewDataKey } from '../auth/org-sealer.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound, type AppError } from '../../platform/kernel/errors.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import { makeResetLink } from './recover-account.ts'
import { freeSlug, SIGN_UP_LOCK } from './sign-up.ts'

type NewOwner = {
  readonly email: string
  readonly name: string
  /** The slug of an organisation, or the name of a new one. */
  readonly org: { readonly slug: string } | { readonly name: string }
}

/**
 * Creates an owner for the operator: of an organisation, or of a new one. The user of a known address becomes a member.
 * @returns the link with which a new user chooses the password; null for a known one
 * @throws AppError not_found (organisation), conflict (a member already, or an address that was never proved)
 */
export async function createOwner(
  app: App,
  input: NewOwner,
): Promise<{ readonly org: string; readonly link: string | null }> {
  const email = foldEmail(input.email)
  const now = app.clock.now()
  return app.tx(async (tx) => {
    await lockUntilEnd(tx, SIGN_UP_LOCK)
    const org = 'slug' in input.org ? await existing(input.org.slug) : await created(input.org.name)
    const known = await userByEmail(tx, email)
    const userId = known?.id ?? newId()
    const user = { id: userId, email, name: input.name, password_hash: null, created_at: now }
    // The operator vouches for the address: only the link opens the account.
    if (known === null) await insertUser(tx, { ...user, email_proved_at: now })
    const locked = await lockUser(tx, userId)
    if (locked === null || locked.email_proved_at === null) throw unproved(email)
    if (!(await insertMembership(tx, { user_id: userId, org_id: org.id, role: 'owner', created_at: now })))
      throw conflict(`${email} is a member of ${org.slug} already: an owner can change the role.`)
    const fact: Fact =
      known === null
        ? { kind: 'signup.password.ok', orgId: org.id, userId, data: { org_id: org.id, via: 'operator' } }
        : { kind: 'member.added', orgId: org.id, userId, data: { role: 'owner' } }
    await recordFacts(tx, factContext(app, systemActor('create-owner'), now), [fact])
    return { org: org.slug, link: known === null ? await makeResetLink(tx, app, userId) : null }

    async function existing(slug: string): Promise<{ id: string; slug: string }> {
      const found = await orgBySlug(tx, slug)
      if (found === null) throw notFound('Organisation')
      return { id: found.id, slug }
    }

    async function created(name: string): Promise<{ id: string; slug: string }> {
      const id = newId()
      const slug = await freeSlug(tx, name)
      await insertOrg(tx, { id, slug, name, data_key_sealed: sealedNewDataKey(app, id), created_at: now })
      return { id, slug }
    }
  })
}

const unproved = (email: string): AppError =>
  conflict(
    `${email} has an account, but anyone may have signed up with this address. Run "user reset-password --email ${email}" first and give the link to its owner: the new password proves the address and removes whatever else opens the account.`,
  )
