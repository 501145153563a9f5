import { orgOpener, orgSealer, UnreadableKeyError } from './org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Opener, Sealer } from '../../platform/storage/seal.ts'

/** The sealer of an organisation; when its key cannot be opened, one that opens nothing. */
export const lenientSealer = (app: App, orgId: string, tx: Tx): Promise<Sealer> =>
  orgSealer(app, orgId, tx).catch(openingNothing)

/** As {@link lenientSealer}, for values that were read before. */
export const lenientOpener = (app: App, orgId: string, db: Connection = app.db): Promise<Opener> =>
  orgOpener(app, orgId, db).catch(openingNothing)

function openingNothing(error: unknown): Sealer {
  if (!(error instanceof UnreadableKeyError)) throw error
  const fail = (): never => {
    throw error
  }
  return { keyId: '', seal: fail, open: fail }
}
