package api

// extensions are manifests that use what apps/v1 lacks.
var extensions = map[string]verdict{
	"paused":                            {change: "spec.paused = true"},
	"Recreate":                          {change: "spec.updateStrategy = {type: Recreate}"},
	"Recreate with rollingUpdate":       {change: "spec.updateStrategy = {type: Recreate, rollingUpdate: {partition: 1}}", refused: "spec.updateStrategy.rollingUpdate"},
	"Recreate with enforced parameters": {change: "spec.updateStrategy = {type: Recreate, enforcedRollingUpdate: {}}", refused: "spec.updateStrategy.enforcedRollingUpdate"},
	"Enforced bare":                     {change: "spec.updateStrategy = {type: EnforcedRollingUpdate}"},
	"Enforced with parameters":          {change: "spec.updateStrategy = {type: EnforcedRollingUpdate, enforcedRollingUpdate: {partition: 1, maxUnavailable: 25%}}"},
	"Enforced with rollingUpdate":       {change: "spec.updateStrategy = {type: EnforcedRollingUpdate, rollingUpdate: {partition: 1}}", refused: "spec.updateStrategy.rollingUpdate"},
	"Enforced with a timeout":           {change: "spec.updateStrategy = {type: EnforcedRollingUpdate, enforcedRollingUpdate: {podProgressTimeoutSeconds: 60}}", refused: "spec.updateStrategy.enforcedRollingUpdate.podProgressTimeoutSeconds"},
	"Enforced, partition negative":      {change: "spec.updateStrategy = {type: EnforcedRollingUpdate, enforcedRollingUpdate: {partition: -1}}", refused: "spec.updateStrategy.enforcedRollingUpdate.partition"},
	"Enforced, maxUnavailable 0":        {change: "spec.updateStrategy = {type: EnforcedRollingUpdate, enforcedRollingUpdate: {maxUnavailable: 0}}", refused: "spec.updateStrategy.enforcedRollingUpdate.maxUnavailable"},
	"RollingUpdate with enforced":       {change: "spec.updateStrategy = {type: RollingUpdate, enforcedRollingUpdate: {partition: 1}}", refused: "spec.updateStrategy.enforcedRollingUpdate"},
	"timeout":                           {change: "spec.updateStrategy = {rollingUpdate: {podProgressTimeoutSeconds: 600}}"},
	"timeout 0":                         {change: "spec.updateStrategy = {rollingUpdate: {podProgressTimeoutSeconds: 0}}", refused: "spec.updateStrategy.rollingUpdate.podProgressTimeoutSeconds"},
	"timeout within minReadySeconds":    {change: "spec.minReadySeconds = 60\nspec.updateStrategy = {rollingUpdate: {podProgressTimeoutSeconds: 60}}", refused: "spec.updateStrategy.rollingUpdate.podProgressTimeoutSeconds"},
	"timeout above minReadySeconds":     {change: "spec.minReadySeconds = 60\nspec.updateStrategy = {rollingUpdate: {podProgressTimeoutSeconds: 61}}"},
}
