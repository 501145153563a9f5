import type { Connection } from './database.ts'

/** Where the sealed text is stored, as it is sealed for that place. */
export const CANARY_PLACE = 'seal_canary:1'
export const CANARY_TEXT = 'faultline'

/** Stores the sealed text unless there is one. Returns the one that is stored. */
export async function keepCanary(on: Connection, sealed: string): Promise<string> {
  await on
    .insertInto('seal_canary')
    .values({ id: 1, sealed })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const row = await on.selectFrom('seal_canary').select('sealed').where('id', '=', 1).executeTakeFirstOrThrow()
  return row.sealed
}
