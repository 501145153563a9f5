import type { Connection } from '../../platform/storage/database.ts'

export async function selectKey(db: Connection): Promise<string | null> {
  const row = await db.selectFrom('audit_key').select('private_sealed').where('id', '=', 1).executeTakeFirst()
  return row?.private_sealed ?? null
}

/** Whether any log has entries. */
export async function hasHeads(db: Connection): Promise<boolean> {
  return (await db.selectFrom('audit_heads').select('org_id').limit(1).executeTakeFirst()) !== undefined
}

/** Does nothing when there is one. */
export async function insertKey(db: Connection, sealed: string, now: Date): Promise<void> {
  await db
    .insertInto('audit_key')
    .values({ id: 1, private_sealed: sealed, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
