import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { projectSettingsQuery } from '../api/queries.ts'
import { SettingsFrame } from '../components/settings-frame.tsx'
import { paths } from '../paths.ts'
import { grouping } from '../words/grouping.ts'
import { people } from '../words/people.ts'
import { privacy } from '../words/privacy.ts'
import { settings } from '../words/settings.ts'

const route = getRouteApi('/signed-in/shell/projects/$projectId/settings')

export function ProjectSettingsFrame() {
  const { projectId } = route.useParams()
  const project = useQuery(projectSettingsQuery(projectId))
  return (
    <SettingsFrame name={settings.frame} heading={project.data?.name ?? ''}>
      {[
        <Link key="general" {...paths.projectGeneral(projectId)}>
          {settings.general}
        </Link>,
        <Link key="keys" {...paths.projectKeys(projectId)}>
          {settings.keys}
        </Link>,
        <Link key="filters" {...paths.projectFilters(projectId)}>
          {privacy.filters.title}
        </Link>,
        <Link key="grouping" {...paths.projectGrouping(projectId)}>
          {grouping.title}
        </Link>,
        <Link key="scrubbing" {...paths.projectScrubbing(projectId)}>
          {privacy.scrubbing.title}
        </Link>,
        <Link key="ownership" {...paths.projectOwnership(projectId)}>
          {people.ownership.title}
        </Link>,
      ]}
    </SettingsFrame>
  )
}
