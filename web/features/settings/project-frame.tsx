import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { projectSettingsQuery } from '../../api/queries.ts'
import { SettingsFrame } from './frame.tsx'
import { paths } from '../../address/paths.ts'
import { grouping } from './grouping/texts.ts'
import { people } from './ownership-texts.ts'
import { privacy } from './privacy-texts.ts'
import { settings } from './texts.ts'

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
