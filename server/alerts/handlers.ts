import type { Handlers } from '../platform/context/handlers.ts'
import type { alertsContract } from './contract.api.ts'
import { dryRunHandlers } from './evaluation/dry-run.handlers.ts'
import { alertTestHandlers } from './actions/alert-actions.handlers.ts'
import { alertHandlers } from './rules/alerts.handlers.ts'
import { alertMailHandlers } from './alert-mails/alert-mails.handlers.ts'
import { chatHandlers } from './chat/chat.handlers.ts'
import { changeMonitorHandlers } from './monitors/change-monitor.handlers.ts'
import { pushDeviceHandlers } from './notifications/devices.handlers.ts'
import { preferencesHandlers } from './notifications/preferences.handlers.ts'

/** The handler of every endpoint of this district. */
export const alertsHandlers: Handlers<typeof alertsContract> = {
  ...alertHandlers,
  ...dryRunHandlers,
  ...alertTestHandlers,
  ...pushDeviceHandlers,
  ...preferencesHandlers,
  ...alertMailHandlers,
  ...chatHandlers,
  ...changeMonitorHandlers,
}
