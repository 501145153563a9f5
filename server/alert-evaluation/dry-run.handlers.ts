import type { dryRunRoutes } from '../alerts/alerts.api.ts'
import type { Handlers } from '../context/handlers.ts'
import { dryRun } from './dry-run.ts'

export const dryRunHandlers: Handlers<typeof dryRunRoutes> = {
  dryRunAlertRule: (app, actor, { body }) => dryRun(app, actor, body),
}
