import { z } from 'zod'
import { ScrubRuleList } from '../../events/protocol/scrub-rules.api.ts'

export const scrubFields = {
  scrub_ip_addresses: z.boolean().describe('Remove client addresses before anything is stored.'),
  scrub_email_addresses: z
    .boolean()
    .describe('Replace e-mail addresses in texts and values before anything is stored.'),
  scrub_fields: z.array(z.string().min(1).max(100)).max(100).describe('Further keys whose values are removed.'),
  safe_fields: z.array(z.string().min(1).max(100)).max(100).describe('Keys never removed by the default rules.'),
  scrub_rules: ScrubRuleList.describe('Rules of the project, applied before the default ones.'),
}
