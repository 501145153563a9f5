import { orgSealer, UnreadableKeyError } from '../auth/org-sealer.ts'
import type { App } from '../context/app.ts'
import type { Connection } from '../storage/database.ts'
import type { Sealer } from '../storage/seal.ts'

/** The sealer of an organisation; when its key cannot be opened, one that opens nothing. */
export async function lenientSealer(app: App, orgId: string, db: Connection = app.db): Promise<Sealer> {
  try {
    return await orgSealer(app, orgId, db)
  } catch (error) {
    if (!(error instanceof UnreadableKeyError)) throw error
    const fail = (): never => {
      throw error
    }
    return { keyId: '', seal: fail, open: fail }
  }
}
