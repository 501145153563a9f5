import { accountNotice, type Receiver } from '../auth/account-facts.ts'
import type { App } from '../../platform/context/app.ts'
import type { QueuedMail } from '../../platform/mails/enqueue-mails.ts'

export const registeredMail = (app: App, user: Receiver, name: string): QueuedMail =>
  accountNotice(app, user, {
    type: 'passkey.registered',
    subject: 'A passkey was added to your account',
    what: `The passkey "${name}" was added. It logs in without password and code.`,
  })

export const removedMail = (app: App, user: Receiver, name: string): QueuedMail =>
  accountNotice(app, user, {
    type: 'passkey.removed',
    subject: 'A passkey was removed from your account',
    what: `The passkey "${name}" was removed and can no longer log in.`,
  })

export const regressedMail = (app: App, user: Receiver, name: string): QueuedMail =>
  accountNotice(app, user, {
    type: 'passkey.counter_regressed',
    subject: 'A passkey of your account may have been copied',
    what: `A log-in with the passkey "${name}" was refused because its counter went back: a copy of it may exist. Remove the passkey and add it again.`,
  })
