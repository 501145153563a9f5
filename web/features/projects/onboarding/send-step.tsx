import { serviceNow } from '../../../ui/clock.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { startLive, useLive } from '../../../api/live.ts'
import { intakeQuery, type Intake } from '../../../api/intake-queries.ts'
import { firstIssueQuery, projectSettingsQuery, type Project } from '../../../api/queries.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field } from '../../../ui/field.tsx'
import { formatDuration } from '../../../ui/format.ts'
import { useNow } from '../../../ui/now.ts'
import { PageMain } from '../../../ui/page-main.tsx'
import { onboardingTexts } from './texts.ts'
import { isServer, type SnippetPlatform } from '../../../subjects/projects/snippets.ts'
import { SnippetTabs } from '../../../subjects/projects/snippet-tabs.tsx'
import { Steps } from './steps.tsx'
import { UploadStep, useFirstUpload } from './upload-step.tsx'
import { WaitCard } from './wait.tsx'
import settingsStyles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import typeStyles from '../../../ui/type.module.css'

const texts = onboardingTexts.send
const ASK_EVERY_MS = 2000

const isNotInvalid = (outcome: string): boolean => outcome !== 'invalid'

/** How many items had one of these outcomes. */
const outcomesOf = (intake: Intake | undefined, isMeant: (outcome: string) => boolean): number =>
  (intake?.totals ?? []).reduce((sum, { outcome, quantity }) => (isMeant(outcome) ? sum + quantity : sum), 0)

/** The code for the app on the left; on the right the card that waits for the first event. */
export function SendStep({ project, sdk }: { project: Project; sdk: SnippetPlatform | undefined }) {
  // Until a tab is chosen, the address decides: it may follow the project by a moment.
  const [chosen, setChosen] = useState<SnippetPlatform | null>(null)
  const platform = chosen ?? sdk ?? project.platform
  const [since] = useState(() => serviceNow())
  const now = useNow('second')
  const client = useQueryClient()

  const first = useQuery({
    ...firstIssueQuery(project.id),
    // Live messages are faster; polling is the fallback.
    refetchInterval: ({ state }) => (state.data !== undefined && state.data.items.length > 0 ? false : ASK_EVERY_MS),
    meta: { quiet: true },
  })
  const issue = first.data?.items[0] ?? null
  const settings = useQuery({
    ...projectSettingsQuery(project.id),
    // A refused request shows within two seconds.
    refetchInterval: issue === null ? ASK_EVERY_MS / 2 : false,
    meta: { quiet: true },
  })
  const intake = useQuery({
    ...intakeQuery(project.id, '24h'),
    refetchInterval: issue === null ? ASK_EVERY_MS : false,
    meta: { quiet: true },
  })
  const key = settings.data?.keys.find(({ expires_at }) => expires_at === null) ?? null

  useEffect(() => startLive(client), [client])
  useLive((messages) => {
    if (messages.some((message) => 'project_id' in message && message.project_id === project.id))
      void client.invalidateQueries({ queryKey: firstIssueQuery(project.id).queryKey })
  })

  const issueId = issue?.id
  useEffect(() => {
    // Other cached data of this project is out of date now.
    if (issueId === undefined) return
    void client.invalidateQueries({ queryKey: ['projects'], exact: true })
    void client.invalidateQueries({ queryKey: ['onboarding'] })
  }, [client, issueId])

  const dsn = settings.data?.dsn ?? project.dsn

  const arrived = issue !== null
  const upload = useFirstUpload(project.id, !isServer(platform))
  // An item that cannot be read shows that something sends, not that the SDK is installed.
  const invalid = outcomesOf(intake.data, (outcome) => outcome === 'invalid')
  const requested = key?.last_seen_at != null && (invalid === 0 || outcomesOf(intake.data, isNotInvalid) > 0)
  const passed = formatDuration(Math.max(0, Math.floor((now - since) / 1000)) * 1000)
  return (
    <PageMain className={fitStyles.barePage}>
      <div className={classNames(settingsStyles.setUp, typeStyles.bigHead)}>
        <Steps
          project={{ done: true, now: false, more: project.name }}
          sdk={{
            done: arrived || requested,
            now: !arrived && !requested,
            more: arrived || requested ? onboardingTexts.steps.sdkDone : onboardingTexts.steps.sdkMore,
          }}
          event={{
            done: arrived,
            now: !arrived && requested,
            more: arrived ? onboardingTexts.steps.eventDone : onboardingTexts.steps.eventWaiting(passed),
          }}
          symbols={
            isServer(platform)
              ? null
              : {
                  done: upload != null,
                  now: arrived && upload === null,
                  more: upload == null ? onboardingTexts.steps.symbolsMore : onboardingTexts.steps.symbolsDone,
                }
          }
        />
        <div className={settingsStyles.setUpMain}>
          <h1>{arrived ? texts.headingDone : texts.heading}</h1>
          <p className={settingsStyles.lead}>
            {!arrived
              ? texts.lead
              : isServer(platform)
                ? texts.leadDone
                : upload == null
                  ? texts.leadUpload
                  : texts.leadUploaded}
          </p>
          <SnippetTabs platform={platform} dsn={dsn} onChange={setChosen} />
          {isServer(platform) ? null : (
            <UploadStep project={project} platform={platform} first={upload} isNext={arrived} />
          )}
          <div className={classNames(settingsStyles.dsn, fitStyles.bareInput)}>
            <Field
              label={texts.yourDsn}
              hint={texts.dsnHint}
              className={typeStyles.mono}
              readOnly
              value={dsn}
              onFocus={(event) => event.target.select()}
              after={<CopyButton size="sm" text={dsn} said={texts.dsnCopied} />}
            />
          </div>
        </div>
        <WaitCard
          project={project}
          dsn={dsn}
          keyInUse={key}
          refusal={settings.data?.last_key_refusal ?? null}
          issue={issue}
          invalid={invalid}
          waitedMs={now - since}
        />
      </div>
    </PageMain>
  )
}
