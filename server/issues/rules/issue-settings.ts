import { z } from 'zod'
import { storedSettings } from '../../projects/registry/stored-settings.ts'
import {
  DEFAULT_ESCALATING,
  DEFAULT_SEVERITY_RULES,
  EscalatingRules,
  issueFields,
  SeverityRules,
} from './issue-settings.api.ts'

export const StoredEscalating = z
  .object({
    deviations: EscalatingRules.shape.deviations.catch(DEFAULT_ESCALATING.deviations),
    busy_factor: EscalatingRules.shape.busy_factor.catch(DEFAULT_ESCALATING.busy_factor),
    min_limit: EscalatingRules.shape.min_limit.catch(DEFAULT_ESCALATING.min_limit),
    new_issue_factor: EscalatingRules.shape.new_issue_factor.catch(DEFAULT_ESCALATING.new_issue_factor),
    new_issue_min_limit: EscalatingRules.shape.new_issue_min_limit.catch(DEFAULT_ESCALATING.new_issue_min_limit),
  })
  .catch(DEFAULT_ESCALATING)

const StoredSeverityRules = z
  .object({
    users: SeverityRules.shape.users.catch(DEFAULT_SEVERITY_RULES.users),
    user_share: SeverityRules.shape.user_share.catch(DEFAULT_SEVERITY_RULES.user_share),
  })
  .catch(DEFAULT_SEVERITY_RULES)

export const issueSettings = storedSettings({
  auto_resolve_days: issueFields.auto_resolve_days.catch(14),
  escalating: StoredEscalating,
  severity_rules: StoredSeverityRules,
})
