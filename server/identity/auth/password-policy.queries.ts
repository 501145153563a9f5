import type { Connection } from '../../platform/storage/database.ts'

/** Whether the user has turned on two-factor authentication. */
export async function hasTotp(db: Connection, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('totp_factors')
    .select('id')
    .where('user_id', '=', userId)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Whether single sign-on is enforced for this user by an organisation that has verified the domain.
 * @param orgId that organisation; by default any
 */
export async function enforcedFor(db: Connection, userId: string, domain: string, orgId?: string): Promise<boolean> {
  const row = await db
    .selectFrom('memberships as m')
    .innerJoin('sso_configs as c', 'c.org_id', 'm.org_id')
    .innerJoin('sso_domains as d', 'd.org_id', 'c.org_id')
    .select('m.org_id')
    .where('m.user_id', '=', userId)
    .where('m.disabled_at', 'is', null)
    .where((where) =>
      where.or([
        where('m.role', '<>', 'owner'),
        where.not(
          where.exists(
            where
              .selectFrom('totp_factors as f')
              .whereRef('f.user_id', '=', 'm.user_id')
              .where('f.verified_at', 'is not', null),
          ),
        ),
      ]),
    )
    .where('c.enforced', '=', true)
    .where('d.domain', '=', domain)
    .where('d.verified_at', 'is not', null)
    .where((where) => (orgId === undefined ? where.lit(true) : where('c.org_id', '=', orgId)))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
