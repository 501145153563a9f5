import { z } from 'zod'
import { storedSettings } from '../../projects/registry/stored-settings.ts'
import { OwnershipRule, ownershipFields } from './ownership-rules.api.ts'

export const ownershipSettings = storedSettings({ ownership_rules: ownershipFields.ownership_rules.catch([]) })

const ofRepository = storedSettings({ repository_owners: z.array(OwnershipRule).catch([]) })

/** Rules of the CODEOWNERS file of a project's repository. */
export const repositoryOwners = (stored: unknown): readonly OwnershipRule[] => ofRepository(stored).repository_owners

/** Every rule that assigns new issues. The last one that matches decides, so that those of members come last. */
export const ownershipRules = (stored: unknown): readonly OwnershipRule[] => [
  ...repositoryOwners(stored),
  ...ownershipSettings(stored).ownership_rules,
]
