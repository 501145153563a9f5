import type { App } from '../../platform/context/app.ts'

/** Parts of the app that alerts need inside the transaction of a fact, whose subscribers have no app. */
export type AlertParts = Pick<App, 'sealer' | 'auditKey'> & { readonly config: Pick<App['config'], 'publicUrl'> }
