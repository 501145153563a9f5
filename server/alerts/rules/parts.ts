import type { App } from '../../platform/context/app.ts'

/** What alerts need of the app inside the transaction of a fact, whose subscribers have no app. */
export type AlertParts = Pick<App, 'sealer' | 'auditKey'> & { readonly config: Pick<App['config'], 'publicUrl'> }
