package checkpointtest

var (
	listCases      []testCase
	watchCases     []testCase
	decisionCases  []testCase
	retentionCases []testCase
	modelCases     []testCase
)
