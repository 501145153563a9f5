import { useQuery } from '@tanstack/react-query'
import { preferencesQuery, type NotificationPreferences } from '../../../api/notification-queries.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { SettingsHead } from '../../../frames/settings-frame.tsx'
import { appTexts } from '../../../app/texts.ts'
import { Card } from '../../../ui/card.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { Switch } from '../../../ui/switch.tsx'
import { notificationsTexts as texts } from './notifications-texts.ts'
import { MutedRulesCard } from './muted-rules-card.tsx'
import { ProjectsCard } from './projects-card.tsx'
import { PushDevicesCard } from './push-devices-card.tsx'
import { QuietHoursCard } from './quiet-hours-card.tsx'
import { SettingRow } from '../../../frames/setting-row.tsx'
import settingsStyles from '../../../frames/settings.module.css'

/** How the user is notified outside the dashboard. */
export function NotificationsPage() {
  const preferences = useQuery(preferencesQuery)
  return (
    <>
      <SettingsHead title={texts.title} of={null} lead={texts.lead} />
      <PageQuery
        query={preferences}
        what={texts.what}
        title={texts.channels}
        waiting={
          <Card title={texts.channels}>
            <SkeletonRows rows={3} label={appTexts.loading} />
          </Card>
        }
      >
        {(data) => (
          <>
            <ChannelsCard preferences={data} />
            <ProjectsCard preferences={data} />
            <QuietHoursCard preferences={data} />
          </>
        )}
      </PageQuery>
      <PushDevicesCard />
      <MutedRulesCard />
    </>
  )
}

const SEVERITIES = (['low', 'medium', 'high', 'critical'] as const).map((value) => ({
  value,
  label: texts.severities[value],
}))

type ChannelsChange = Partial<NotificationPreferences['channels']> & {
  push_min_severity?: NotificationPreferences['push_min_severity']
  weekly_digest?: NotificationPreferences['weekly_digest']
}

/** The time zone of this browser. */
const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

const zoneName = (zone: string): string => zone.replaceAll('_', ' ')

/** Applied immediately. */
function ChannelsCard({
  preferences: { channels, push_min_severity: severity, weekly_digest: digest },
}: {
  preferences: NotificationPreferences
}) {
  const change = useChange({
    send: ({ push_min_severity, weekly_digest, ...changed }: ChannelsChange) =>
      call('PATCH /api/me/notifications', { body: { channels: changed, push_min_severity, weekly_digest } }),
    touches: () => [preferencesQuery.queryKey],
    guess: (client, { push_min_severity = severity, weekly_digest = digest, ...changed }) =>
      client.setQueryData(preferencesQuery.queryKey, (before) =>
        before === undefined
          ? before
          : { ...before, push_min_severity, weekly_digest, channels: { ...before.channels, ...changed } },
      ),
    failed: texts.notSaved,
  })
  return (
    <Card title={texts.channels}>
      <ul className={settingsStyles.rows}>
        <SettingRow title={texts.email} more={texts.emailMore}>
          <Switch label={texts.email} checked={channels.email} onChange={(email) => change.mutate({ email })} />
        </SettingRow>
        <SettingRow title={texts.push} more={texts.pushMore}>
          <Switch label={texts.push} checked={channels.push} onChange={(push) => change.mutate({ push })} />
        </SettingRow>
        <SettingRow
          title={texts.digest}
          more={texts.digestMore(zoneName(digest.enabled ? digest.time_zone : ownZone()))}
        >
          <Switch
            label={texts.digest}
            checked={digest.enabled}
            onChange={(enabled) => change.mutate({ weekly_digest: { enabled, time_zone: ownZone() } })}
          />
        </SettingRow>
        <SettingRow title={texts.severity} more={texts.severityMore}>
          <Segmented
            label={texts.severity}
            value={severity}
            options={SEVERITIES}
            onChange={(value) => change.mutate({ push_min_severity: value })}
          />
        </SettingRow>
      </ul>
    </Card>
  )
}
