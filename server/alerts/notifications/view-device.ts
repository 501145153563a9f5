import type { z } from 'zod'
import type { App } from '../../platform/context/app.ts'
import { PushDevice } from './devices.api.ts'
import type { DeviceRow } from './devices.queries.ts'

export function viewDevice({ config }: Pick<App, 'config'>, row: DeviceRow): z.input<typeof PushDevice> {
  const provider = PushDevice.shape.provider.parse(row.provider)
  return {
    id: row.id,
    platform: PushDevice.shape.platform.parse(row.platform),
    provider,
    provider_configured: config.push[provider] !== null,
    token: row.token_masked,
    created_at: row.created_at.toISOString(),
    registered_at: row.registered_at.toISOString(),
    last_sent_at: row.last_sent_at?.toISOString() ?? null,
    last_error:
      row.last_error_code === null || row.last_error_at === null
        ? null
        : { code: row.last_error_code, text: row.last_error_text ?? '', at: row.last_error_at.toISOString() },
  }
}
