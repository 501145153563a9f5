import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { projectSettingsQuery } from '../../../api/queries.ts'
import { SettingsFrame } from '../../../frames/settings-frame.tsx'
import { paths } from '../../../address/paths.ts'
import { groupingTexts } from './grouping/texts.ts'
import { ownershipTexts } from './ownership-texts.ts'
import { privacyTexts } from './privacy-texts.ts'
import { settingsTexts } from './texts.ts'

const route = getRouteApi('/signed-in/shell/projects/$projectId/settings')

export function ProjectSettingsFrame() {
  const { projectId } = route.useParams()
  const project = useQuery(projectSettingsQuery(projectId))
  return (
    <SettingsFrame name={settingsTexts.frame} heading={project.data?.name ?? ''}>
      {[
        <Link key="general" {...paths.projectGeneral(projectId)}>
          {settingsTexts.general}
        </Link>,
        <Link key="keys" {...paths.projectKeys(projectId)}>
          {settingsTexts.keys}
        </Link>,
        <Link key="install" {...paths.projectInstall(projectId)}>
          {settingsTexts.install}
        </Link>,
        <Link key="filters" {...paths.projectFilters(projectId)}>
          {privacyTexts.filters.title}
        </Link>,
        <Link key="grouping" {...paths.projectGrouping(projectId)}>
          {groupingTexts.title}
        </Link>,
        <Link key="scrubbing" {...paths.projectScrubbing(projectId)}>
          {privacyTexts.scrubbing.title}
        </Link>,
        <Link key="retention" {...paths.projectRetention(projectId)}>
          {settingsTexts.retention}
        </Link>,
        <Link key="ownership" {...paths.projectOwnership(projectId)}>
          {ownershipTexts.title}
        </Link>,
        <Link key="integrations" {...paths.projectIntegrations(projectId)}>
          {settingsTexts.integrations}
        </Link>,
      ]}
    </SettingsFrame>
  )
}
