import { insertActions, insertRule, selectActions } from '../../alerts/rules/rules.queries.ts'
import { completeConditions } from '../../alerts/rules/conditions.ts'
import { insertHiddenOrg } from '../../identity/auth/auth.queries.ts'
import { sealedNewDataKey } from '../../identity/auth/org-sealer.ts'
import type { App } from '../../platform/context/app.ts'
import { LATEST_GROUPING_VERSION } from '../../issues/grouping/grouping-rules.api.ts'
import {
  newId,
  CANARY_ACTION_ID,
  CANARY_ORG_ID,
  CANARY_PROJECT_ID,
  CANARY_PROJECT_NUMBER,
  CANARY_RULE_ID,
} from '../../platform/kernel/ids.ts'
import { openLane } from '../../platform/outbox/open-lane.ts'
import { newPublicKey } from '../../projects/registry/rotate-dsn.ts'
import { insertProject, insertProjectKey, readProjectKeys } from '../../projects/registry/projects.queries.ts'
import { lockUntilEnd } from '../../platform/storage/advisory-lock.queries.ts'
import { CANARY_CHANNEL } from './canary-channel.ts'

/** An arbitrary number: one process prepares, the others wait. */
const PREPARE_LOCK = 7_201_994_337
/** Letters that no slug of a member's organisation begins with. */
const SLUG = '.canary'
const NAME = 'End-to-end test'

/**
 * Makes what the test needs, where it is missing: the hidden organisation, its project, the rule and the lane of its
 * action. No facts: no member did it, and no member sees it.
 * @returns the key that the test sends with
 */
export async function prepareCanary(app: App): Promise<string> {
  return app.tx(async (tx) => {
    await lockUntilEnd(tx, PREPARE_LOCK)
    const [known] = await readProjectKeys(tx, CANARY_PROJECT_ID)
    const now = app.clock.now()
    const publicKey = known?.public_key ?? newPublicKey()
    if (known === undefined) {
      await insertHiddenOrg(tx, {
        id: CANARY_ORG_ID,
        slug: SLUG,
        name: NAME,
        data_key_sealed: sealedNewDataKey(app, CANARY_ORG_ID),
        created_at: now,
      })
      await insertProject(tx, {
        id: CANARY_PROJECT_ID,
        number: CANARY_PROJECT_NUMBER,
        org_id: CANARY_ORG_ID,
        name: NAME,
        slug: 'canary',
        platform: 'other',
        // The intake takes the key in every region.
        region: 'eu-central-1',
        settings: JSON.stringify({ grouping_version: LATEST_GROUPING_VERSION }),
        created_at: now,
      })
      await insertProjectKey(tx, { id: newId(), project_id: CANARY_PROJECT_ID, public_key: publicKey, created_at: now })
    }
    if ((await selectActions(tx, [CANARY_RULE_ID])).length === 0) {
      await insertRule(tx, {
        id: CANARY_RULE_ID,
        org_id: CANARY_ORG_ID,
        project_id: CANARY_PROJECT_ID,
        name: NAME,
        trigger_type: 'new_issue',
        conditions: JSON.stringify(completeConditions('new_issue', {})),
        enabled: true,
        cooldown_minutes: 0,
        escalate_after_minutes: null,
        close_with_issue: false,
        created_by: null,
        created_at: now,
        updated_at: now,
      })
      await openLane(tx, { id: CANARY_ACTION_ID, orgId: CANARY_ORG_ID, channel: CANARY_CHANNEL })
      // The API takes no action of this type.
      await insertActions(tx, [
        {
          id: CANARY_ACTION_ID,
          rule_id: CANARY_RULE_ID,
          org_id: CANARY_ORG_ID,
          position: 0,
          is_escalation: false,
          type: 'canary',
        },
      ])
    }
    return publicKey
  })
}
