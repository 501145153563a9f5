import type { Insertable, Selectable } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

export type FactorRow = Selectable<Tables['totp_factors']>

/** The user's factor, also one whose setup was not verified. */
export async function readFactor(db: Connection, userId: string): Promise<FactorRow | null> {
  return (await db.selectFrom('totp_factors').selectAll().where('user_id', '=', userId).executeTakeFirst()) ?? null
}

/** Inserts an unverified factor with its backup codes, in place of another unverified one. The user's row is locked. */
export async function insertFactor(
  tx: Tx,
  factor: Insertable<Tables['totp_factors']>,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await deleteUnverifiedFactor(tx, factor.user_id)
  await tx.insertInto('totp_factors').values(factor).execute()
  await insertCodes(tx, factor.id, codeHashes)
}

async function insertCodes(tx: Tx, factorId: string, codeHashes: readonly Buffer[]): Promise<void> {
  await tx
    .insertInto('backup_codes')
    .values(codeHashes.map((hash) => ({ factor_id: factorId, hash })))
    .execute()
}

/** @param usedStep burns the code of the setup; null keeps it for the first log-in */
export async function markVerified(
  tx: Tx,
  factorId: string,
  { now, step, usedStep }: { readonly now: Date; readonly step: number; readonly usedStep: number | null },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('totp_factors')
    .set({ verified_at: now, enrolled_step: step, used_step: usedStep })
    .where('id', '=', factorId)
    .where('verified_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/**
 * Uses up a time step and every earlier one, in one statement. A step before the one of the setup counts as used.
 * @returns false when it was used before, or the factor is gone
 */
export async function consumeStep(db: Connection, factorId: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('totp_factors')
    .set({ used_step: step })
    .where('id', '=', factorId)
    .where('verified_at', 'is not', null)
    .where('enrolled_step', '<=', step)
    .where((where) => where.or([where('used_step', 'is', null), where('used_step', '<', step)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Uses up a backup code, in one statement. @returns false when it was used before, or replaced */
export async function consumeCode(db: Connection, factorId: string, hash: Buffer, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('backup_codes')
    .set({ used_at: now })
    .where('factor_id', '=', factorId)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function hasUnusedCode(db: Connection, factorId: string, hash: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('backup_codes')
    .select('factor_id')
    .where('factor_id', '=', factorId)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

export async function countUnusedCodes(db: Connection, factorId: string): Promise<number> {
  const { n } = await db
    .selectFrom('backup_codes')
    .select((column) => column.fn.countAll<number>().as('n'))
    .where('factor_id', '=', factorId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return n
}

export async function replaceCodes(
  tx: Tx,
  factorId: string,
  salt: Buffer,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await tx.updateTable('totp_factors').set({ backup_salt: salt }).where('id', '=', factorId).execute()
  await tx.deleteFrom('backup_codes').where('factor_id', '=', factorId).execute()
  await insertCodes(tx, factorId, codeHashes)
}

/** @returns the id of the verified factor that was deleted */
export async function deleteVerifiedFactor(tx: Tx, userId: string): Promise<string | null> {
  const row = await tx
    .deleteFrom('totp_factors')
    .where('user_id', '=', userId)
    .where('verified_at', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Deletes a setup that was not verified. */
export async function deleteUnverifiedFactor(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('totp_factors').where('user_id', '=', userId).where('verified_at', 'is', null).execute()
}

/** Whether the organisation still has single sign-on with this provider. */
export async function hasSsoIssuer(db: Connection, orgId: string, issuer: string): Promise<boolean> {
  const row = await db
    .selectFrom('sso_configs')
    .select('org_id')
    .where('org_id', '=', orgId)
    .where('issuer', '=', issuer)
    .executeTakeFirst()
  return row !== undefined
}
