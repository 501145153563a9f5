import { accountNotice, type Receiver } from '../auth/account-notice.ts'
import type { App } from '../../platform/context/app.ts'
import type { QueuedMail } from '../../platform/mails/enqueue-mails.ts'
import type { ProviderName } from './social.api.ts'

export const PROVIDER_NAMES: Readonly<Record<ProviderName, string>> = { github: 'GitHub', google: 'Google' }

type Account = { readonly provider: ProviderName; readonly login: string | null }

export const linkedMail = (app: App, user: Receiver, { provider, login }: Account): QueuedMail =>
  accountNotice(app, user, {
    type: 'identity.linked',
    subject: `${PROVIDER_NAMES[provider]} was linked to your account`,
    what: `The ${PROVIDER_NAMES[provider]} account${login === null ? '' : ` "${login}"`} was linked. It logs in without your password.`,
  })

export const unlinkedMail = (app: App, user: Receiver, { provider, login }: Account): QueuedMail =>
  accountNotice(app, user, {
    type: 'identity.unlinked',
    subject: `${PROVIDER_NAMES[provider]} was unlinked from your account`,
    what: `The ${PROVIDER_NAMES[provider]} account${login === null ? '' : ` "${login}"`} was unlinked and can no longer log in.`,
  })
