import { alertMailRoutes } from './alert-mails/alert-mails.api.ts'
import { chatRoutes } from './chat/chat.api.ts'
import { changeMonitorRoutes } from './monitors/change-monitor.api.ts'
import { alertRoutes, alertTestRoutes, dryRunRoutes } from './rules/alerts.api.ts'
import { pushDeviceRoutes } from './notifications/devices.api.ts'
import { preferencesRoutes } from './notifications/preferences.api.ts'

/** The endpoints of this district. */
export const alertsContract = {
  ...alertRoutes,
  ...dryRunRoutes,
  ...alertTestRoutes,
  ...pushDeviceRoutes,
  ...preferencesRoutes,
  ...alertMailRoutes,
  ...chatRoutes,
  ...changeMonitorRoutes,
}
